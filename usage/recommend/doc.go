// Package recommend says which requests and limits a container needs, given the history of what it
// used.
//
// On nodes of one type, and with CompatOptions, a recommendation equals that of the VPA, to the
// millicore and the byte. With several node types, the distributions of all types are united in
// baseline units when they are read, with the speeds that the caller passes.
//
// A recommendation is for a workload's container. A planner decides about each pod, which has a size, uses memory
// now and may have been killed: see Options.Need.
//
// It must not know clocks, clients, pods or ratios: times and speeds are arguments.
package recommend
