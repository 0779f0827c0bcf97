"""What routes share: the edge of the service, who is calling, strict bodies, one error shape."""
