import type { Operation } from '../../operation.ts'
import { CONTENT_TYPES, type ExampleBody, type ExampleServer, exampleRequest } from './example-request.ts'
import { formatLiteral, PYTHON_NOTATION } from './literal.ts'

const INDENT = PYTHON_NOTATION.indent

/** The example of an operation as a program in Python, with the standard library alone. */
export function pythonExample(operation: Operation, server: ExampleServer): string {
  const { url, token, hasClientId, body } = exampleRequest(operation, server)
  const { method } = operation
  const headers = [
    ...(token === undefined ? [] : [`'Authorization': 'Bearer ' + os.environ['${token}']`]),
    ...(hasClientId ? [`'Client-Id': os.environ['CLIENT_ID']`] : []),
    ...(body === undefined || body.type === 'form' ? [] : [`'Content-Type': '${CONTENT_TYPES[body.type]}'`]),
  ]
  const given = [
    formatLiteral(url, PYTHON_NOTATION),
    ...(method === (body === undefined ? 'GET' : 'POST') ? [] : [`method='${method}'`]),
    ...(headers.length === 0
      ? []
      : [`headers={${headers.map(each => `\n${INDENT}${INDENT}${each},`).join('')}\n${INDENT}}`]),
    ...(body === undefined ? [] : [`data=${formatData(body)}`]),
  ]
  const program = [
    `request = urllib.request.Request(${given.map(each => `\n${INDENT}${each},`).join('')}\n)`,
    'with urllib.request.urlopen(request) as answer:',
    ...readAnswer(operation).map(line => INDENT + line),
  ].join('\n')
  return `${formatImports(program)}\n\n${program}`
}

function formatImports(program: string): string {
  return ['json', 'os', 'urllib.parse', 'urllib.request']
    .filter(name => program.includes(`${name}.`))
    .map(name => `import ${name}`)
    .join('\n')
}

function formatData(body: ExampleBody): string {
  const literal = (value: unknown) => formatLiteral(value, PYTHON_NOTATION, INDENT)
  if (body.type === 'form') return `urllib.parse.urlencode(${literal(body.fields)}).encode()`
  if (body.type === 'json') return `json.dumps(${literal(body.value)}).encode()`
  return `'\\n'.join(json.dumps(line) for line in ${literal(body.lines)}).encode()`
}

function readAnswer({ returns, answerFile, answerLines, mayBeEmpty }: Operation): string[] {
  if (answerLines !== undefined) return ['for line in answer:', `${INDENT}print(json.loads(line))`]
  if (answerFile !== undefined || mayBeEmpty) return ['print(answer.read().decode())']
  return [returns === undefined ? 'print(answer.status)' : 'print(json.load(answer))']
}
