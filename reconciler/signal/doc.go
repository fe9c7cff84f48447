// Package signal keeps what sources of usage show of how containers fared before the resize of their pod,
// and since then, so that package guard can judge the resize.
//
// It keeps a few bytes for each container in the cluster, since any may be resized, and more for those
// whose resize is observed. All of it is in memory, on the replica that collects usage. A replica that
// begins to lead knows nothing of the time before, so it judges no earlier resize by signals.
//
// It must not know where samples come from, nor judge.
package signal
