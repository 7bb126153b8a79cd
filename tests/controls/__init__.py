"""Every claim with its control: what is broken, and the assertion of the chapter that must fail then."""
