// Package headroom says how much of its peak each container of a node gets, since neighbors rarely need their peaks at
// the same time. A container has a steady demand, which it gets in full, and a rest up to its peak. Of all rests on a node, a
// reserve is kept. The node's share is the reserve divided by the sum of rests, and a container gets its steady demand, and
// this share of its rest. So a size follows from the container and one number of its node, never from the sizes of others.
//
// A Table is told about pods and nodes, computes again only the nodes that have changed, and publishes values that do not
// change. They are the same on every replica that knows the same pods.
//
// The package must not know clients, clocks, pod objects or nodes, how demand is measured, which pods are managed, or what
// becomes of a size later: bounds, limits and checks are for others.
package headroom
