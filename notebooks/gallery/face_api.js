// face-api's age, gender and expressions of the surest face, behind gslopes' protocol for http: classifiers.
//
//     npm install @vladmandic/face-api@1.7.15 @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 jpeg-js@0.4.4 pngjs@7.0.0
//     node face_api.js 8000
//     gslopes audit photos --classifier http:http://127.0.0.1:8000/age,kind=number,unit=years --out run
//
// Addresses: /age (years), /gender (P(male)), /expressions (seven scores).

const path = require("path"), { backend, folder, serve } = require("./serve.js");
const faceapi = require("@vladmandic/face-api/dist/face-api.node-wasm.js");

const NETS = ["tinyFaceDetector", "faceLandmark68Net", "faceExpressionNet", "ageGenderNet"];
const READ = {
  "/age": (face) => ({ age: face.age }),
  "/gender": (face) => ({ male: face.gender === "male" ? face.genderProbability : 1 - face.genderProbability }),
  "/expressions": (face) => ({ ...face.expressions }),
};

async function main() {
  await backend();
  const models = path.join(folder("@vladmandic/face-api"), "model");
  for (const net of NETS) await faceapi.nets[net].loadFromDisk(models);
  const options = new faceapi.TinyFaceDetectorOptions({ inputSize: 320, scoreThreshold: 0.3 });
  const look = (picture) => faceapi.detectSingleFace(picture, options).withFaceLandmarks().withFaceExpressions().withAgeAndGender();
  serve(`face-api ${faceapi.version}`, look, READ, process.argv[2]);
}

main();
