package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// pageRequest and pageResponse are the messages of methods that return pages.
type (
	pageRequest interface {
		proto.Message
		GetPageToken() string
	}
	pageResponse interface {
		proto.Message
		GetNextPageToken() string
	}
)

// pages yields the pages of a list from the one that the request asks for, as needed. An error is
// yielded once, last.
func pages[Q pageRequest, R pageResponse](ctx context.Context, request Q, list func(context.Context, Q, ...grpc.CallOption) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		next := proto.CloneOf(request)
		for {
			page, err := list(ctx, next)
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			if !yield(page, nil) || page.GetNextPageToken() == "" {
				return
			}
			if page.GetNextPageToken() == next.GetPageToken() {
				var none R
				yield(none, status.Error(codes.DataLoss, "the server says that each page follows itself: this list has no end"))
				return
			}
			fields := next.ProtoReflect().Descriptor().Fields()
			next.ProtoReflect().Set(fields.ByName("page_token"), protoreflect.ValueOfString(page.GetNextPageToken()))
		}
	}
}

// items yields the items of pages. An error is yielded once, last.
func items[R pageResponse, T any](pages iter.Seq2[R, error], of func(R) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range pages {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range of(page) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// whole returns the first page with the items of all pages. add adds the items of a page to it.
func whole[R pageResponse](pages iter.Seq2[R, error], add func(to, page R)) (first R, err error) {
	begun := false
	for page, err := range pages {
		if err != nil {
			var none R
			return none, err
		}
		if !begun {
			first, begun = page, true
			continue
		}
		add(first, page)
	}
	fields := first.ProtoReflect().Descriptor().Fields()
	first.ProtoReflect().Clear(fields.ByName("next_page_token"))
	return first, nil
}
