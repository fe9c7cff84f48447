// Package samples keeps samples in ConfigMaps, those of a node type in one of
// them, so that they survive restarts and every replica sees the same; of each
// key only the newest.
//
// Each ConfigMap is followed by a watch of its own: a right to watch can be
// limited to names only if one name is watched at a time.
//
// It must not know what is made of samples.
package samples
