// Numbers of parquet.thrift.

/** "PAR1", at both ends of a file. */
export const PARQUET_MAGIC = new Uint8Array([0x50, 0x41, 0x52, 0x31]);

export const Parquet = {
  plain: 0,
  deltaBinaryPacked: 5,
  deltaLengthByteArray: 6,
  rleDictionary: 8,
  byteStreamSplit: 9,
  dictionaryPage: 2,
  dataPageV2: 3,
} as const;
