"""Networks: shapes in, shapes out, no files."""

import os

# On the CPU, oneDNN keeps what it compiled for each of the last 1,024 input shapes. MTCNN meets a new shape with
# nearly every batch, so that memory would grow with the number of photos for no gain: 16 hold every shape that comes
# back (300 IdenProf photos: 1.27 GB instead of 1.95 at the peak, 40 s instead of 43). Read when the first network
# runs.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16")
