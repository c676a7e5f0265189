import { familyOf, methodName, type Operation, queryParameters } from '../../operation.ts'
import { CONTENT_TYPES, type ExampleServer, exampleRequest } from './example-request.ts'
import { formatLiteral, TYPESCRIPT_NOTATION } from './literal.ts'

/** What examples read variables from; this program reads them elsewhere. */
const ENVIRONMENT = ['process', 'env'].join('.')
const PACKAGE = formatLiteral('strand-server/client', TYPESCRIPT_NOTATION)

/** The example of an operation as a program with the typed client. */
export function typescriptExample(operation: Operation, server: ExampleServer): string {
  if (operation.answerLines !== undefined) return fetchExample(operation, server)
  const { token, hasClientId } = exampleRequest(operation, server)
  const family = familyOf(operation)
  const options = [
    `baseUrl: ${formatLiteral(server.baseUrl, TYPESCRIPT_NOTATION)}`,
    ...(token === undefined
      ? []
      : [`${token === 'TOKEN' ? 'token' : 'operatorToken'}: ${ENVIRONMENT}.${token}`]),
    ...(hasClientId ? [`clientId: ${ENVIRONMENT}.CLIENT_ID`] : []),
  ]
  const call = `await ${family}.${methodName(operation)}(${formatInput(operation)})`
  const hasResult = operation.returns !== undefined || operation.answerFile !== undefined
  return [
    `import { createClient } from ${PACKAGE}`,
    '',
    `const { ${family} } = createClient({${options.map(each => `\n  ${each},`).join('')}\n})`,
    ...(hasResult ? [`const answer = ${call}`, 'console.log(answer)'] : [call]),
  ].join('\n')
}

function formatInput(operation: Operation): string {
  const { example } = operation
  const { properties } = queryParameters(operation)
  const query = Object.entries(example.query ?? {}).map(([name, value]) => [
    name,
    // In a query string, a list of one looks like a single value.
    'items' in (properties[name] ?? {}) ? [value].flat() : value,
  ])
  const input = {
    ...example.params,
    ...Object.fromEntries(query),
    ...(example.body as object | undefined),
  }
  return Object.keys(input).length === 0 ? '' : formatLiteral(input, TYPESCRIPT_NOTATION)
}

/** The client leaves out streams of lines, which have no bound. */
function fetchExample(operation: Operation, server: ExampleServer): string {
  const { url, token, body } = exampleRequest(operation, server)
  const headers = [
    ...(token === undefined ? [] : [`Authorization: \`Bearer \${${ENVIRONMENT}.${token}}\``]),
    ...(body === undefined ? [] : [`'Content-Type': '${CONTENT_TYPES[body.type]}'`]),
  ]
  const init = [
    ...(operation.method === 'GET' ? [] : [`method: '${operation.method}'`]),
    `headers: {${headers.map(each => `\n    ${each},`).join('')}\n  }`,
    ...(body?.type === 'lines' ? ["body: lines.map(line => JSON.stringify(line)).join('\\n')"] : []),
  ]
  return [
    ...(body?.type === 'lines'
      ? [`const lines = ${formatLiteral(body.lines, TYPESCRIPT_NOTATION)}`, '']
      : []),
    `const answer = await fetch(${formatLiteral(url, TYPESCRIPT_NOTATION)}, {${init.map(each => `\n  ${each},`).join('')}\n})`,
    'console.log(await answer.text())',
  ].join('\n')
}
