import fastify from 'fastify';

/** The least that Fastify can do for the same call: the same schemas for body and reply, a constant answer, no database, no token. */
const [path = '', input = '', output = '', data = ''] = process.argv.slice(2);
const answer = { data: JSON.parse(data) as unknown };
const reply = { type: 'object', properties: { data: JSON.parse(output) }, required: ['data'] };
const server = fastify();
server.post(path, { schema: { body: JSON.parse(input), response: { 200: reply } } }, async () => answer);
await server.listen({ host: '127.0.0.1', port: 0 });
const address = server.server.address();
process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : 0 })}\n`);
process.once('SIGINT', () => void server.close());
