// Runs as a separate process: receives a body over HTTP, discards it and answers 204. The minimum cost of a write on this runtime.
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
