"""Event files are what the tensorboard package reads: scalars, histograms, pictures of filters, the graph."""
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from program import PICTURES, ProgramTest, main


class TensorBoard(ProgramTest):
    def train(self, *options, out="run"):
        self.write_digits(24)
        self.write("a.toml", PICTURES + "metrics = [\"f1\"]\n[log]\ntensorboard = true\n")
        self.succeed("train", "a.toml", "--out", out, "--set", "data.split={validation = 6}", *options)

    def events(self, out="run"):
        events = EventAccumulator(str(self.folder / out), size_guidance={"histograms": 0, "images": 0, "scalars": 0})
        events.Reload()
        return events

    def test_the_package_reads_what_a_run_writes(self):
        self.train()
        events, lines = self.events(), self.lines("run/metrics.jsonl")
        tags = events.Tags()
        self.assertTrue(tags["graph"])
        self.assertEqual(set(tags["scalars"]) & {"loss/train", "loss/validation", "accuracy/validation", "f1/validation", "lr"},
                         {"loss/train", "loss/validation", "accuracy/validation", "f1/validation", "lr"})
        for tag, part, name in (("loss/train", "train", "loss"), ("f1/validation", "validation", "f1")):
            shown = [(event.step, event.value) for event in events.Scalars(tag)]
            self.assertEqual([step for step, _ in shown], [1, 2])
            for (_, value), line in zip(shown, lines):
                self.assertAlmostEqual(value, line[part][name], places=5)
        histogram = events.Histograms("0.weight")[-1].histogram_value
        self.assertEqual((histogram.num, sum(histogram.bucket), len(histogram.bucket_limit)), (18, 18, 30))
        self.assertLess(histogram.min, histogram.max)
        image = events.Images("filters/0.weight")[0]
        self.assertTrue(image.encoded_image_string.startswith(b"\x89PNG"))
        self.assertEqual((image.width, image.height), (9, 5))
        self.assertEqual([node.name for node in events.Graph().node][:2], ["input", "0_conv2d"])

    def test_weights_are_those_of_a_run_without_it(self):
        self.train()
        self.train("--set", "log.tensorboard=false", out="plain")
        for name in ("metrics.jsonl", "model.safetensors"):
            self.assertEqual((self.folder / "run" / name).read_bytes(), (self.folder / "plain" / name).read_bytes())
        self.assertEqual(list((self.folder / "plain").glob("events*")), [])
        self.train("--overwrite", "--set", "log.tensorboard=false")
        self.assertEqual(list((self.folder / "run").glob("events*")), [])


if __name__ == "__main__":
    main()
