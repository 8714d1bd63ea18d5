"""make_fixtures.py: writes the files of this folder with PyTorch and skl2onnx (torch 2.2.2, skl2onnx 1.19), which the tests do
not need: a state dictionary, a checkpoint around it, networks exported to ONNX, and what they answer."""
import pathlib

import numpy as np
import torch
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

here = pathlib.Path(__file__).parent


def export(model, x, name):
    """The network as torch.onnx writes it, and its answers to x."""
    model.eval()
    torch.onnx.export(model, x, here / f"{name}.onnx", opset_version=17, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
    with torch.no_grad():
        np.savez(here / f"{name}.npz", x=x.numpy(), y=model(x).numpy())


class Recurrent(torch.nn.Module):
    """The last step of a recurrent layer, and a linear one."""

    def __init__(self, layer, features):
        super().__init__()
        self.layer, self.linear = layer, torch.nn.Linear(features, 3)

    def forward(self, x):
        return self.linear(self.layer(x)[0][:, -1])


torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
torch.save(net.state_dict(), here / "iris.pt")
torch.save({"epoch": 3, "model_state_dict": net.state_dict(), "loss": 0.5}, here / "iris_checkpoint.pt")
torch.save(net, here / "iris_model.pt")
torch.save({"half": torch.ones(2).half()}, here / "half.pt")
base = torch.arange(6.0).reshape(2, 3)
torch.save({"turned": base.t(), "part": base[:, 1:]}, here / "views.pt")
export(net, torch.randn(5, 4), "iris_mlp")
cnn = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                          torch.nn.Flatten(), torch.nn.Linear(2 * 4 * 4, 10))
export(cnn, torch.rand(5, 1, 8, 8), "digits_cnn")
for name, layer, features in (("lstm", torch.nn.LSTM(3, 4, batch_first=True), 4),
                              ("gru", torch.nn.GRU(3, 4, batch_first=True, bidirectional=True), 8),
                              ("rnn", torch.nn.RNN(3, 4, num_layers=2, batch_first=True), 4)):
    export(Recurrent(layer, features), torch.randn(5, 6, 3), name)

iris = load_iris()
pipe = make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=200, random_state=1)).fit(iris.data, iris.target_names[iris.target])
x = iris.data[::30].astype(np.float32)
(here / "iris_sklearn.onnx").write_bytes(
    to_onnx(pipe, x[:1], options={"zipmap": False}, target_opset=17).SerializeToString())
np.savez(here / "iris_sklearn.npz", x=x, y=pipe.predict_proba(x).astype(np.float32))
