package cmdtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// answer answers a request with the messages that it sends, and an error.
type answer func(ctx context.Context, req proto.Message, send func(proto.Message) error) error

// Script has the answers of some methods. The functions that return one find its method by the message
// that it takes or returns, since each method of the API has messages of its own.
type Script map[protoreflect.FullName]answer

// Scripts joins scripts. Of two answers of a method, the last one counts.
func Scripts(all ...Script) Script {
	joined := Script{}
	for _, s := range all {
		maps.Copy(joined, s)
	}
	return joined
}

// On answers a method that takes Q and returns one R.
func On[Q, R proto.Message](returns func(Q) (R, error)) Script {
	return OnStream(func(_ context.Context, req Q, send func(R) error) error {
		resp, err := returns(req)
		if err != nil {
			return err
		}
		return send(resp)
	})
}

// OnStream answers a method that takes Q and returns a stream of R.
func OnStream[Q, R proto.Message](returns func(ctx context.Context, req Q, send func(R) error) error) Script {
	var taken Q
	return Script{methodWith("take", taken, protoreflect.MethodDescriptor.Input): func(ctx context.Context, req proto.Message, send func(proto.Message) error) error {
		return returns(ctx, req.(Q), func(resp R) error { return send(resp) })
	}}
}

// Returns answers a method always with the same message.
func Returns(resp proto.Message) Script {
	return Script{methodWith("return", resp, protoreflect.MethodDescriptor.Output): func(_ context.Context, _ proto.Message, send func(proto.Message) error) error {
		return send(resp)
	}}
}

// Pages answers a method with pages of a list, of at most size items.
func Pages(size int, list proto.Message) Script {
	return Script{methodWith("return", list, protoreflect.MethodDescriptor.Output): func(_ context.Context, req proto.Message, send func(proto.Message) error) error {
		return send(Page(size, list, req))
	}}
}

// Fails answers a method, which is named without its service, with an error.
func Fails(method string, err error) Script {
	return Script{find(method, func(m protoreflect.MethodDescriptor) bool { return string(m.Name()) == method }): func(context.Context, proto.Message, func(proto.Message) error) error {
		return err
	}}
}

// Stream is one stream: its events, and the error that ends it; with nil, it continues until
// the caller goes away.
type Stream[R proto.Message] struct {
	Events []R
	Err    error
}

// Watches answers the calls of a watch with one stream after the other. Later calls receive nothing.
func Watches[R proto.Message](next ...Stream[R]) Script {
	streams := make(chan Stream[R], len(next))
	for _, stream := range next {
		streams <- stream
	}
	close(streams)
	var returned R
	return Script{methodWith("return", returned, protoreflect.MethodDescriptor.Output): func(ctx context.Context, _ proto.Message, send func(proto.Message) error) error {
		now := <-streams
		for _, event := range now.Events {
			if err := send(event); err != nil {
				return err
			}
		}
		if now.Err != nil {
			return now.Err
		}
		return gone(ctx)
	}}
}

// WithReason returns an error with a reason, as the server does.
func WithReason(code codes.Code, reason, message string) error {
	s, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "workload-resizer.io"})
	if err != nil {
		panic(err) // It is neither OK nor too large.
	}
	return s.Err()
}

// Page returns the page of a list that a request asks for: the items of the first field that is a list.
// Tokens are the number of items before their page.
func Page[R proto.Message](size int, list R, req proto.Message) R {
	asked := func(name protoreflect.Name) protoreflect.Value {
		return req.ProtoReflect().Get(req.ProtoReflect().Descriptor().Fields().ByName(name))
	}
	if most := int(asked("page_size").Int()); most > 0 {
		size = min(size, most)
	}
	begin, _ := strconv.Atoi(asked("page_token").String()) // Empty for the first page.
	page := proto.CloneOf(list)
	fields := page.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if !fields.Get(i).IsList() {
			continue
		}
		items := page.ProtoReflect().Mutable(fields.Get(i)).List()
		end := min(begin+size, items.Len())
		if end < items.Len() {
			page.ProtoReflect().Set(fields.ByName("next_page_token"), protoreflect.ValueOfString(strconv.Itoa(end)))
		}
		for at := begin; at < end; at++ {
			items.Set(at-begin, items.Get(at))
		}
		items.Truncate(end - begin)
		break
	}
	return page
}

// methodWith returns the only method that takes or returns a message.
func methodWith(do string, message proto.Message, side func(protoreflect.MethodDescriptor) protoreflect.MessageDescriptor) protoreflect.FullName {
	name := message.ProtoReflect().Descriptor().FullName()
	return find(fmt.Sprint("that ", do, " ", name), func(m protoreflect.MethodDescriptor) bool { return side(m).FullName() == name })
}

// find returns the only method of the API that matches.
func find(what string, matches func(protoreflect.MethodDescriptor) bool) protoreflect.FullName {
	var found []protoreflect.FullName
	protoregistry.GlobalFiles.RangeFilesByPackage("workloadresizer.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				if matches(methods.Get(j)) {
					found = append(found, methods.Get(j).FullName())
				}
			}
		}
		return true
	})
	slices.Sort(found)
	if len(found) != 1 {
		panic(fmt.Sprintf("the API has %d methods %s: %v", len(found), what, found))
	}
	return found[0]
}
