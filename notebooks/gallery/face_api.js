// face-api's age, gender and expressions of the surest face, behind gslopes' protocol for http: classifiers.
//
//     npm install @vladmandic/face-api@1.7.15 @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 jpeg-js@0.4.4 pngjs@7.0.0
//     node face_api.js 8000
//     gslopes audit photos --classifier http:http://127.0.0.1:8000/age,kind=number,unit=years --out run
//
// Addresses: /age (years), /gender (P(male)), /expressions (seven scores).

const http = require("http"), path = require("path"), jpeg = require("jpeg-js"), { PNG } = require("pngjs");
const tf = require("@tensorflow/tfjs"), wasm = require("@tensorflow/tfjs-backend-wasm");
const faceapi = require("@vladmandic/face-api/dist/face-api.node-wasm.js");
const folder = (name) => path.dirname(require.resolve(`${name}/package.json`));

const READ = {
  "/age": (found) => found.withAgeAndGender().then((face) => face && { age: face.age }),
  "/gender": (found) => found.withAgeAndGender().then((face) => face && { male: face.gender === "male" ? face.genderProbability : 1 - face.genderProbability }),
  "/expressions": (found) => found.withFaceExpressions().then((face) => face && { ...face.expressions }),
};

async function labels(data, read) {
  const { width, height, data: pixels } = data[0] === 0xff ? jpeg.decode(data, { useTArray: true }) : PNG.sync.read(data);
  const picture = tf.tidy(() => tf.tensor3d(new Int32Array(pixels), [height, width, 4], "int32").slice([0, 0, 0], [-1, -1, 3]));
  const options = new faceapi.TinyFaceDetectorOptions({ inputSize: 320, scoreThreshold: 0.3 });
  const found = await read(faceapi.detectSingleFace(picture, options).withFaceLandmarks());
  picture.dispose();
  return found ? { labels: found } : { refused: "no face found" };
}

async function main() {
  wasm.setWasmPaths(`${path.join(folder("@tensorflow/tfjs-backend-wasm"), "dist")}/`);
  await tf.setBackend("wasm");
  await tf.ready();
  const models = path.join(folder("@vladmandic/face-api"), "model");
  for (const net of ["tinyFaceDetector", "faceLandmark68Net", "faceExpressionNet", "ageGenderNet"]) await faceapi.nets[net].loadFromDisk(models);
  http.createServer((request, response) => {
    const read = READ[request.url], parts = [];
    request.on("data", (part) => parts.push(part)).on("end", async () => {
      if (!read) return response.writeHead(404).end();
      const answers = [];
      for (const text of JSON.parse(Buffer.concat(parts)).pictures) answers.push(await labels(Buffer.from(text, "base64"), read));
      response.end(JSON.stringify({ version: `face-api ${faceapi.version}`, answers }));
    });
  }).listen(Number(process.argv[2] ?? 8000), "127.0.0.1", () => console.log("ready"));
}

main();
