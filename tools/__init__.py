"""What developers run on the source tree; not part of the product."""
