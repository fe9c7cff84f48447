package paging

import (
	"context"
	"iter"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// FillFrom is Fill for items that may fail. to returns the message of an item, and its place in the list, which is empty for the
// items of earlier pages and for those that the request does not select. The error comes from the items or from ctx.
func FillFrom[I any, M proto.Message](ctx context.Context, page Page, items iter.Seq2[I, error], to func(I) (string, M)) (messages []M, next string, err error) {
	messages, next = Fill(page, func(yield func(string, M) bool) {
		for item, failed := range items {
			if err = failed; err != nil {
				return
			}
			if place, m := to(item); place != "" && !yield(place, m) {
				return
			}
		}
	})
	if ctx.Err() != nil {
		err = status.FromContextError(ctx.Err()).Err()
	}
	return messages, next, err
}
