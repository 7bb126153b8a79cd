"""Every claim with its ablation: what is broken, and the assertion of the chapter that must fail then."""
