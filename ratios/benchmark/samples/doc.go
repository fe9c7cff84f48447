// Package samples stores samples in ConfigMaps, so that they survive restarts and every replica
// has the same samples. All samples of a node type are in the same ConfigMap. Only the newest
// samples of each key are kept.
//
// Each ConfigMap has its own watch, because RBAC can restrict the right to watch to a name only
// if a watch selects that name.
//
// It must not know how samples are used.
package samples
