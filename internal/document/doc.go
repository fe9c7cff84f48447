// Package document stores a document in one ConfigMap, so that it survives restarts and
// every replica sees the same content. It watches the ConfigMap, and changes it so that
// no writer undoes another writer's change. A change takes effect immediately in the
// process that writes it. Invalid content leaves the last good content in effect and is
// never overwritten.
//
// It must not know what the document says, nor who may change it.
package document
