import type { Dialect } from '../../sql/tag.ts'

/**
 * What the studio shows: `encoder` of a publish session is what its encoder sends, as JSON, written every few seconds by the
 * node that receives it. The index finds the channels that a user may edit.
 */
export const studio = (_dialect: Dialect): string => `
alter table publish_sessions add column if not exists encoder text;
create index if not exists editors_by_editor_and_channel on editors (editor_id, user_id);
`
