"""The one way in which reading a page fails."""


class ParserFailed(Exception):
    """The page cannot be parsed within its limits. Argument: what was found. Becomes the outcome `parser_failed`."""

    @property
    def problem(self) -> str:
        return str(self.args[0])
