"""Small things that sentences need, wherever they are written; it imports nothing of ours."""


def with_capital(text: str) -> str:
    """The text with its first letter made a capital, and all others as they are."""
    return text[:1].upper() + text[1:]
