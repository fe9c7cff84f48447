// Package push is a source of usage that others push: node agents, through the API. It keeps what has
// arrived until it is read.
//
// It must not know the API, or who pushes.
package push
