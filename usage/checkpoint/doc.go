// Package checkpoint stores what is known of usage in ConfigMaps, so that it survives restarts and
// every replica knows it. The leader writes, and all replicas read.
//
// A container belongs to the shard that the hash of its key selects. Each shard is one ConfigMap, so
// it is written as a whole, and complete by itself. If shards become too large, their number doubles.
// Until all of them are written, a container may be in two of them, and the newer one counts. So a
// writer may stop between any two writes.
//
// Shards are protobuf messages of stored/v2, deflated. Fields that this version does not know
// are kept: those of a shard's content and of a container, with its node types. So are the fields of a
// content if the number of shards changes: each shard then has those of the newest one that had some of its
// containers. Version 1, which was not protobuf, is only read.
//
// The trends of the workloads of a shard are next to it, under a key of their own. Nothing that is wrong with them is wrong with the
// history: they get the room that it leaves, and are left out where they cannot be read. If they need more room, there are more shards.
//
// A Companion is next to it in the same way: the evidence of how fast node types are, of which this package knows only bytes and hashes.
//
// A reader never takes much more memory than the number of bytes that it reads.
//
// A ConfigMap that cannot be read, because of damage or a later version, is never changed. Its shard
// continues in another ConfigMap.
//
// It must not know what a history means, nor pods or ratios.
package checkpoint
