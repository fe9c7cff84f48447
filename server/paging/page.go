package paging

import (
	"iter"

	"google.golang.org/protobuf/proto"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Request is a request for a page of a list.
type Request interface {
	proto.Message
	GetPageSize() int32
	GetPageToken() string
}

// Sizes are the numbers of items on a page.
type Sizes struct {
	// Default is the number if the request sets none.
	Default int
	// Max is the largest number; a request for more items gets as many.
	Max int
}

// Page is the page that a request asks for.
type Page struct {
	// After is the last item of the previous page; empty for the first page.
	After string

	size    int
	request []byte
}

// Of returns the page that a request asks for, or the error for a token that is not valid.
func Of(request Request, sizes Sizes) (Page, error) {
	p := Page{size: min(int(request.GetPageSize()), sizes.Max), request: identity(request)}
	if p.size <= 0 {
		p.size = sizes.Default
	}
	var err error
	if text := request.GetPageToken(); text != "" {
		if p.After, err = parse(p.request, text); err != nil {
			return p, TokenError(err)
		}
	}
	return p, nil
}

// TokenError returns the error for a page token that is not valid.
func TokenError(err error) error { return rpcerror.BadField("page_token", "is invalid: "+err.Error()) }

// identity returns what the requests for all pages of a list have in common.
func identity(request Request) []byte {
	same := proto.Clone(request).ProtoReflect()
	fields := same.Descriptor().Fields()
	same.Clear(fields.ByName("page_size"))
	same.Clear(fields.ByName("page_token"))
	b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(same.Interface()) // It was received as a message.
	return append([]byte(same.Descriptor().FullName()), b...)
}

// Fill returns the items of a page, and the token of the next page if there are more. items are
// those after p.After, in order, each with the name that a token can have. A page ends early
// before it exceeds limits.AnswerBytes.
func Fill[M proto.Message](p Page, items iter.Seq2[string, M]) (page []M, next string) {
	bytes, last := 0, ""
	for name, item := range items {
		bytes += proto.Size(item)
		if len(page) == p.size || bytes > limits.AnswerBytes && len(page) > 0 {
			return page, token(p.request, last)
		}
		page, last = append(page, item), name
	}
	return page, ""
}
