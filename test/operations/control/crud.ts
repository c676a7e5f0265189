/**
 * The frame of the tests of a resource of the control API. It describes the operations of the resource, and adds the cases
 * that hold for every resource: ids that do not exist or are malformed, references to missing rows, fields that change
 * alone, pages, filters, and rows that are deleted.
 */
import { expect } from 'bun:test'
import { type Operation, queryParameters } from '../../../src/contract/operation.ts'
import { describeOperation, type Proofs, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { asOperator, byNumber, expectEmpty, idsOf, naming, UNKNOWN_UUID, walk } from './operator.ts'

export interface CrudOperations {
  readonly create: Operation
  /** Creates the row if there is none. */
  readonly put?: Operation
  /** Changes a row that exists. */
  readonly patch?: Operation
  readonly get: Operation
  readonly list: Operation
  readonly remove: Operation
}

interface IdKind {
  readonly unknown: string
  readonly malformed: readonly string[]
  /** The same id in other letters. */
  readonly respell: (id: string) => string
  readonly sort: (ids: readonly string[]) => string[]
  readonly fresh: () => string
}

let numbers = 4700

export const UUID_IDS: IdKind = {
  unknown: UNKNOWN_UUID,
  malformed: ['42'],
  respell: id => id.toUpperCase(),
  sort: ids => ids.toSorted(),
  fresh: () => crypto.randomUUID(),
}
export const NUMBER_IDS: IdKind = {
  unknown: '999',
  malformed: ['abc', '007', '1'.repeat(20)],
  respell: id => id,
  sort: byNumber,
  fresh: () => String(++numbers),
}
/** Ids that the server chooses, of any text. */
export const TEXT_IDS: IdKind = {
  unknown: 'unknown',
  malformed: [],
  respell: id => id,
  sort: ids => ids.toSorted(),
  fresh: () => 'unknown',
}

export interface Resource {
  readonly ids: IdKind
  /** A body that creates a row. */
  readonly body: (server: TestServer) => object
  /** Changes that an existing row takes one by one. */
  readonly changes: readonly object[]
  /** Fields that name another row, with an id that no row has. */
  readonly references?: Readonly<Record<string, string>>
  /** References that an existing row keeps. */
  readonly fixed?: readonly string[]
}

/** The operations of a resource as calls of an operator. */
export function crudCalls({ create, put, patch, get, list, remove }: CrudOperations, { body }: Resource) {
  const at = (id: string) => `${list.path}/${id}`
  const change = put ?? patch ?? create
  const calls = {
    create: (server: TestServer, given: object) => send(server, create, asOperator(server, { body: given })),
    /** By PUT or PATCH. */
    change: (server: TestServer, id: string, given: object) =>
      send(server, change, asOperator(server, { path: at(id), body: given })),
    get: (server: TestServer, id: string) => send(server, get, asOperator(server, { path: at(id) })),
    list: (server: TestServer, query: NonNullable<Ask['query']>) =>
      send(server, list, asOperator(server, { query })),
    remove: (server: TestServer, id: string) => send(server, remove, asOperator(server, { path: at(id) })),
    /** A new row, as it is created. */
    make: async (server: TestServer, more: object = {}) =>
      (await calls.create(server, { ...body(server), ...more })).body.data[0],
  }
  return calls
}

type Cases = (proofs: Proofs) => void

/** Describes the operations of a resource, each with the given cases and those of every resource. */
export function describeCrud(
  operations: CrudOperations,
  resource: Resource,
  own: Readonly<Record<'create' | 'change' | 'get' | 'list' | 'remove', Cases>>,
): void {
  const calls = crudCalls(operations, resource)
  const { create, put, patch, get, list, remove } = operations
  const pathOfNew = async (server: TestServer) => `${list.path}/${(await calls.make(server)).id}`
  const validRow = async (server: TestServer) => asOperator(server, { path: await pathOfNew(server) })
  const validBody = (server: TestServer) => asOperator(server, { body: resource.body(server) })
  const validChange = async (server: TestServer) => ({
    ...validBody(server),
    path: await pathOfNew(server),
  })

  describeOperation(create, { valid: validBody }, proofs => {
    own.create(proofs)
    refusesUnknown(proofs, resource, (server, reference) =>
      calls.create(server, { ...resource.body(server), ...reference }),
    )
  })
  if (put !== undefined)
    describeOperation(put, { valid: validChange }, proofs => {
      own.change(proofs)
      changesFields(proofs, resource, calls)
      createsWithId(proofs, put, create, resource, calls)
    })
  if (patch !== undefined)
    describeOperation(patch, { valid: validChange }, proofs => {
      own.change(proofs)
      changesFields(proofs, resource, calls)
      proofs.fails('not_found', 'when it does not exist', server =>
        naming(resource.ids.unknown, calls.change(server, resource.ids.unknown, resource.body(server))),
      )
    })
  describeOperation(get, { valid: validRow }, proofs => {
    own.get(proofs)
    showsRow(proofs, resource, calls, list.path)
  })
  describeOperation(list, { valid: server => asOperator(server) }, proofs => {
    own.list(proofs)
    listsPages(proofs, list, resource, calls)
  })
  describeOperation(remove, { valid: validRow }, proofs => {
    own.remove(proofs)
    deletesRow(proofs, resource, calls)
  })
}

type Calls = ReturnType<typeof crudCalls>

function refusesUnknown(
  { fails }: Proofs,
  { references = {} }: Resource,
  call: (server: TestServer, reference: object) => Promise<Answer>,
): void {
  for (const [name, unknown] of Object.entries(references))
    fails('unknown_reference', `when the row of ${name} does not exist`, server =>
      naming(unknown, call(server, { [name]: unknown })),
    )
}

function changesFields(proofs: Proofs, { changes, references = {}, fixed = [] }: Resource, calls: Calls) {
  proofs.ok('each field changes alone; fields left out keep their value', async server => {
    const { id } = await calls.make(server)
    for (const change of [...changes, {}]) {
      const [before] = (await calls.get(server, id)).body.data
      const answer = await calls.change(server, id, change)
      expect(answer.body).toEqual({ data: [{ ...before, ...change }] })
      expect((await calls.get(server, id)).body).toEqual(answer.body)
    }
  })
  const changeable = Object.entries(references).filter(([name]) => !fixed.includes(name))
  refusesUnknown(
    proofs,
    { references: Object.fromEntries(changeable) } as Resource,
    async (server, reference) => {
      const { id } = await calls.make(server)
      const before = await calls.get(server, id)
      const answer = await calls.change(server, id, { name: 'Lost', ...reference })
      expect((await calls.get(server, id)).body).toEqual(before.body)
      return answer
    },
  )
}

function createsWithId(
  { ok, fails }: Proofs,
  put: Operation,
  create: Operation,
  { ids, body, references = {} }: Resource,
  calls: Calls,
): void {
  ok('creates the row with this id as POST does, and a repeat changes nothing', async server => {
    const created = await calls.make(server)
    const id = ids.fresh()
    for (const spelling of [id, id, ids.respell(id)])
      expect((await calls.change(server, spelling, body(server))).body.data).toEqual([{ ...created, id }])
  })
  for (const name of create.body?.required ?? [])
    fails('missing_parameter', `when the row is new and has no ${name}`, server =>
      naming(name, calls.change(server, ids.fresh(), { ...body(server), [name]: undefined })),
    )
  for (const [name, unknown] of Object.entries(references))
    fails('unknown_reference', `when the row is new and that of ${name} does not exist`, server =>
      calls.change(server, ids.fresh(), { ...body(server), [name]: unknown }),
    )
  const [parameter = ''] = Object.keys(put.params?.properties ?? {})
  for (const id of ids.malformed)
    fails('malformed_parameter', `when the id is ${id}`, server =>
      naming(parameter, calls.change(server, id, body(server))),
    )
}

function showsRow({ ok, fails }: Proofs, { ids }: Resource, calls: Calls, path: string): void {
  ok('shows what the list shows', async server => {
    const { id } = await calls.make(server)
    const listed = (await walk(server, path, { first: 100 })).filter(row => row.id === id)
    expect(listed).toHaveLength(1)
    for (const spelling of [id, ids.respell(id)])
      expect((await calls.get(server, spelling)).body).toEqual({ data: listed })
  })
  fails('not_found', 'when it does not exist', server => naming(ids.unknown, calls.get(server, ids.unknown)))
  for (const id of ids.malformed) fails('not_found', `when the id is ${id}`, server => calls.get(server, id))
}

function listsPages({ ok, fails }: Proofs, list: Operation, { ids }: Resource, calls: Calls): void {
  ok('pages to the end by id, every row once', async server => {
    const made: string[] = []
    for (let count = 0; count < 21; count++) made.push((await calls.make(server)).id)
    const all = idsOf(await walk(server, list.path, { first: 100 }))
    expect(all).toEqual(ids.sort([...new Set(all)]))
    expect(made.filter(id => !all.includes(id))).toEqual([])
    for (const query of [{}, { first: 3 }]) expect(idsOf(await walk(server, list.path, query))).toEqual(all)
  })
  for (const first of ['0', '101', '1e1', 'x'])
    fails('malformed_parameter', `when first is ${first}`, server => calls.list(server, { first }))
  fails('invalid_cursor', 'when the cursor belongs to another list', async server => {
    const users = await server.call(asOperator(server, { path: '/control/users', query: { first: 1 } }))
    return calls.list(server, { after: users.body.pagination.cursor })
  })

  if (queryParameters(list).properties.organization_id === undefined) return
  ok('filters by organization, page by page; one that does not exist has no rows', async server => {
    const { organization, other_organization } = server.world
    for (const { id } of [organization, other_organization]) await calls.make(server, { organization_id: id })
    const all = await walk(server, list.path, { first: 100 })
    for (const { id } of [organization, other_organization]) {
      const own = all.filter(row => row.organization_id === id)
      expect(own.length).toBeGreaterThan(0)
      for (const organization_id of [id, id.toUpperCase()])
        expect(await walk(server, list.path, { organization_id, first: 2 })).toEqual(own)
    }
    for (const organization_id of [UNKNOWN_UUID, 'abc'])
      expect((await calls.list(server, { organization_id })).body).toEqual({ data: [], pagination: {} })
  })
  fails('invalid_cursor', 'when the filter changes within a walk', async server => {
    const start = await calls.list(server, { first: 1 })
    const organization_id = server.world.organization.id
    return calls.list(server, { after: start.body.pagination.cursor, organization_id })
  })
}

function deletesRow({ ok, fails }: Proofs, { ids }: Resource, calls: Calls): void {
  ok('deletes it', async server => {
    const { id } = await calls.make(server)
    expectEmpty(await calls.remove(server, ids.respell(id)))
    expect((await calls.get(server, id)).status).toBe(404)
  })
  fails('not_found', 'when it does not exist', server =>
    naming(ids.unknown, calls.remove(server, ids.unknown)),
  )
  fails('not_found', 'the second time', async server => {
    const { id } = await calls.make(server)
    await calls.remove(server, id)
    return naming(id, calls.remove(server, id))
  })
}
