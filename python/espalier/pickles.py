"""What pickles of parameters and scopes call."""


def parameter(model, name):
    """The parameter of an unpickled model."""
    return model._claim(name)


def scope(model, prefix):
    """A place in an unpickled model."""
    return model / prefix
