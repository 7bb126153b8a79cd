"""Pictures as tokens: an image cut into squares. Source: Dosovitskiy et al. 2021 (arXiv:2010.11929), section 3.1."""

from torch import Tensor


def patches(images: Tensor, size: int) -> Tensor:
    """Squares of ``size`` times ``size`` pixels, row after row: ``(batch, height, width)`` -> ``(batch, tokens, size·size)``.

    There are ``height/size · width/size`` tokens; the pixels of one are read row after row, too. ValueError, with height, width and
    size, where the squares do not fill the image, and for tensors of another shape.
    """
    if images.dim() != 3:
        raise ValueError(f"images have shape {tuple(images.shape)}; expected (batch, height, width)")
    batch, height, width = images.shape
    if size < 1 or height % size or width % size:
        raise ValueError(f"height={height} and width={width} must be multiples of size={size}, and size at least 1")
    squares = images.reshape(batch, height // size, size, width // size, size)  # (batch, row, y, column, x)
    return squares.transpose(2, 3).reshape(batch, (height // size) * (width // size), size * size)
