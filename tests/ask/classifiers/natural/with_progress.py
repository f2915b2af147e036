# gslopes try with_progress.py:classify
import contextlib
import functools
import io


def quiet(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        with contextlib.redirect_stdout(io.StringIO()):
            return function(*args, **kwargs)

    return wrapped


@quiet
def classify(photo, verbose=True):
    print("1/1 [==============================] - 0s 30ms/step")
    return {"red": photo[..., 0].mean() / 255}
