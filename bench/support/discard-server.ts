// Run as a process of its own: takes a body over HTTP, throws it away, says 204. The least that any server on this runtime does for a
// write.
const server = Bun.serve({
  ...{ hostname: "127.0.0.1", port: Number(process.argv[2]), maxRequestBodySize: 64 << 20 },
  async fetch(request) {
    await request.arrayBuffer();
    return new Response(null, { status: 204 });
  },
});
process.on("SIGTERM", () => {
  void server.stop(true);
  process.exit(0);
});
