// Package document keeps a document in one ConfigMap, so that it survives
// restarts and every replica sees the same: it follows the ConfigMap by a watch,
// and changes it so that no writer undoes what another has written. What is
// written here is in force here at once. Bad content leaves the last good one in
// force and is never overwritten.
//
// It must not know what the document says, nor who may change it.
package document
