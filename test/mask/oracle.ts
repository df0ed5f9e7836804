/** Ajv as the judge of what a schema allows, with exact `multipleOf`. */
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";

/** Exact where Ajv divides in binary floating point: both as fractions of powers of ten. */
function isMultiple(value: number, step: number): boolean {
  const scale = Math.max(digitsAfterPoint(value), digitsAfterPoint(step));
  const scaled = (number: number): bigint => BigInt(shift(number, scale));
  return scaled(value) % scaled(step) === 0n;
}

function digitsAfterPoint(value: number): number {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  return Math.max(0, (mantissa.split(".")[1]?.length ?? 0) - Number(exponent));
}

function shift(value: number, digits: number): string {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const power = digits + Number(exponent) - fraction.length;
  return `${whole}${fraction}${"0".repeat(Math.max(0, power))}`;
}

export type Validator = (value: unknown) => boolean;

export function validator(schema: unknown): Validator {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
  addFormats(ajv);
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    validate: (step: number, value: number) => isMultiple(value, step),
  });
  return ajv.compile(schema as object) as Validator;
}
