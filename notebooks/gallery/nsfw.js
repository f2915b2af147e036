// nsfwjs' five scores of a picture, behind gslopes' protocol for http: classifiers.
//
//     npm install nsfwjs@4.3.0 @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 jpeg-js@0.4.4 pngjs@7.0.0
//     node nsfw.js 8000
//     gslopes audit photos --classifier http:http://127.0.0.1:8000/nsfw --out run

const nsfwjs = require("nsfwjs"), { backend, serve } = require("./serve.js");

async function main() {
  await backend();
  const model = await nsfwjs.load("MobileNetV2");
  const scores = (found) => Object.fromEntries(found.map((one) => [one.className, one.probability]));
  serve("nsfwjs 4.3.0", (picture) => model.classify(picture), { "/nsfw": scores }, process.argv[2]);
}

main();
