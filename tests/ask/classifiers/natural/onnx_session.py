# gslopes try onnx_session.py:classify,labels=labels.txt,version=1
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

_graph = helper.make_graph(
    [helper.make_node("ReduceMean", ["input"], ["out"], axes=[2, 3], keepdims=0)],
    "means",
    [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 2, 16, 16])],
    [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 2])],
)
_model = helper.make_model(_graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
session = onnxruntime.InferenceSession(
    _model.SerializeToString(), providers=["CPUExecutionProvider"]
)


def preprocess(image):
    small = np.asarray(image.convert("RGB").resize((16, 16)), np.float32) / 255
    return small.transpose(2, 0, 1)[None, :2]


def classify(image):
    return session.run(None, {"input": preprocess(image)})
