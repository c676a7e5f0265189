/** Ids that examples of several nouns share. A test creates them in the order of the nouns. */
export const REEF = '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1'
export const LANTERN = '74c52265-e214-48a6-91b9-23b6014e8041'
export const CLIENT = 'reefdrops0fulfilment0backend01'
export const VIDEO = '1234567890'
