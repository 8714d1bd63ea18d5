# The extension module: used by the package alone.
from typing import Any

def __getattr__(name: str) -> Any: ...
