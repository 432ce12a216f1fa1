"""What every table of the settings file is made of."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One table of the settings file; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
