package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Checker validates requests against the rules in the API definition.
type Checker struct{ rules protovalidate.Validator }

// New compiles the rules of all requests, so that no call has to.
func New() *Checker {
	rules, err := protovalidate.New(protovalidate.WithMessageDescriptors(requests()...))
	if err != nil {
		// The rules are compiled in, so this is a bug.
		panic(fmt.Sprintf("server/rules: %v", err))
	}
	return &Checker{rules}
}

// requests returns the request messages of all services.
func requests() []protoreflect.MessageDescriptor {
	var all []protoreflect.MessageDescriptor
	api := workloadresizerv1.File_workloadresizer_v1_ratio_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(api, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				all = append(all, file.Services().Get(i).Methods().Get(j).Input())
			}
		}
		return true
	})
	return all
}

// Unary refuses requests that violate a rule.
func (c *Checker) Unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := c.Check(request); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// Stream ends a stream when a message violates a rule.
func (c *Checker) Stream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(service, &checkedStream{stream, c})
}

// checkedStream checks each message as it is received.
type checkedStream struct {
	grpc.ServerStream
	checker *Checker
}

// RecvMsg implements grpc.ServerStream.
func (s *checkedStream) RecvMsg(message any) error {
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	return s.checker.Check(message)
}

// Check returns an error if a request violates a rule.
func (c *Checker) Check(request any) error {
	message, ok := request.(proto.Message)
	if !ok {
		return nil // Our services accept nothing else.
	}
	err := c.rules.Validate(message)
	var invalid *protovalidate.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		var violations []rpcerror.Violation
		for _, broken := range invalid.Violations {
			path, problem := broken.Proto.GetField(), problem(broken)
			if options, ok := oneof(message.ProtoReflect().Descriptor(), path); ok {
				path.Elements, problem = path.Elements[:len(path.GetElements())-1], "must be set: "+options
			}
			field := protovalidate.FieldPathString(path)
			// One problem per field is enough.
			if !slices.ContainsFunc(violations, func(v rpcerror.Violation) bool { return v.Field == field }) {
				violations = append(violations, rpcerror.Violation{Field: field, Problem: problem})
			}
		}
		return rpcerror.BadFields(violations)
	}
	return rpcerror.New(rpcerror.Internal, fmt.Sprintf("validate the request: %v", err))
}

// problem describes a violation.
func problem(broken *protovalidate.Violation) string {
	switch rule := broken.Proto.GetRuleId(); {
	case rule == "required", rule == "string.min_len" && broken.FieldValue.String() == "", rule == "enum.not_in" && broken.FieldValue.Enum() == 0:
		return "must be set"
	default:
		return strings.TrimPrefix(broken.Proto.GetMessage(), "value ")
	}
}

// oneof returns the fields to choose from if a path in a message leads to a oneof, which clients
// do not know by its name.
func oneof(in protoreflect.MessageDescriptor, path *validate.FieldPath) (options string, ok bool) {
	for _, element := range path.GetElements() {
		name := protoreflect.Name(element.GetFieldName())
		if choice := in.Oneofs().ByName(name); choice != nil && in.Fields().ByName(name) == nil {
			var names []string
			for i := range choice.Fields().Len() {
				names = append(names, string(choice.Fields().Get(i).Name()))
			}
			last := len(names) - 1
			return strings.Join(names[:last], ", ") + " or " + names[last], true
		}
		field := in.Fields().ByName(name)
		if field == nil || field.Message() == nil {
			break
		}
		in = field.Message()
	}
	return "", false
}
