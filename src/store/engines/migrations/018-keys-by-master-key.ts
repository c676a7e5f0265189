/** Every start and every command asks which master keys are in use: without this index, it reads all stream keys. */
export const keysByMasterKey = (): string => `
create index if not exists stream_keys_by_master_key on stream_keys (key_id);
`
