// The kernel's exports, folder by folder; no logic here.
export { setMemoryBase } from "./memory/host";
