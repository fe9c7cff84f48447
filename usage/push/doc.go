// Package push is a source of usage that others push: node agents, through the API. It keeps what has
// arrived until it is read.
//
// It must not know the API. Senders are only names to it, so that each gets a part of the room.
package push
