import { afterAll, beforeAll, expect, test } from 'vitest';
import { answers } from '#central/answers/index.ts';
import { groups } from '#central/groups/index.ts';
import { startTestCentre, type TestCentre } from './centre.ts';

interface Operation {
  operationId: string;
  requestBody: { content: Record<string, { schema: { additionalProperties?: boolean } }> };
  responses: Record<string, { content: Record<string, { schema: object }> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, { post: Operation }>;
  components: { schemas: Record<string, object> };
}

let centre: TestCentre;
beforeAll(async () => {
  centre = await startTestCentre();
});
afterAll(() => centre.close());

const methods = Object.entries(groups).flatMap(([group, of]) =>
  Object.keys(of).map((name) => `${group}.${name}`),
);

async function get(path: string): Promise<Response> {
  return fetch(`${centre.central.apiUrl}${path}`);
}

test('every method says what it answers, and nothing else does', () => {
  const described = Object.entries(answers).flatMap(([group, of]) =>
    Object.keys(of).map((name) => `${group}.${name}`),
  );
  expect(described.toSorted()).toEqual(methods.toSorted());
});

test('the document is OpenAPI 3.1 and has every method with its body, its answer and its refusals', async () => {
  const document = (await (await get('/openapi.json')).json()) as Document;
  expect(document.openapi).toBe('3.1.0');
  const operations = Object.values(document.paths).map(({ post }) => post);
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(methods.toSorted());
  for (const { operationId, requestBody, responses } of operations) {
    expect(requestBody.content['application/json']?.schema.additionalProperties, operationId).toBe(false);
    expect(responses['200']?.content['application/json']?.schema, operationId).toHaveProperty(
      'properties.data',
    );
    expect(responses['404']?.content['application/json']?.schema, operationId).toEqual({
      $ref: '#/components/schemas/Error',
    });
  }
  expect(document.components.schemas).toHaveProperty('Error.properties.error');
});

test('the page needs no token and loads nothing from elsewhere', async () => {
  const page = await get('/docs');
  expect(page.status).toBe(200);
  const html = await page.text();
  const sources = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, source]) => source ?? '');
  expect(sources.length).toBeGreaterThan(3);
  for (const source of sources) {
    expect(source).toMatch(/^\/docs\//);
    expect((await get(source)).status).toBe(200);
  }
  const script = await get('/docs/static/swagger-initializer.js');
  expect(script.headers.get('content-security-policy')).toContain("default-src 'self'");
});
