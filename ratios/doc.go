// Package ratios provides the performance of each node type.
//
// Each provider supplies a layer: some node types and, optionally, a baseline, bounds, and
// rules for some pods. The Store merges the layers into an immutable Table, which is read
// without locks. For each value, the first layer that sets it takes precedence. A Table has one
// Profile for all pods, the globals, and one for each rule.
//
// Layers and profiles also have what users want, which package policy defines: it is written in the same
// documents and rules, and a plan needs both in one state. This package only passes it on: it
// merges the settings of layers, and puts those that result next to the ratios.
//
// The package must not know what ratios are used for. It knows no plans and no writes, and it
// sees a pod only as a Subject: what rules match on.
package ratios
