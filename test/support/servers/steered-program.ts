// The servers that tests steer, as one program (steered-binary.ts): its first argument says which. Never imported.
const [which] = process.argv.splice(2, 1);

if (which === "data") await import("./data-server-process.ts");
else if (which === "halting") await import("./halting-server-process.ts");
else throw new Error(`want data or halting, got ${which}`);

export {};
