package cmdtest

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// HiddenOfImpact warns of what the scripted server's impact leaves out.
const HiddenOfImpact = "warning: 1 namespace with pods that this concerns is hidden from you: you may not get pods there\n"

// Mask names fields that are to change.
func Mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// Tried is a request as it is sent first, then that for real.
func Tried(req proto.Message) []proto.Message {
	fields := req.ProtoReflect().Descriptor().Fields()
	req.ProtoReflect().Set(fields.ByName("author"), protoreflect.ValueOfString(command.Author()))
	first := proto.Clone(req)
	first.ProtoReflect().Set(fields.ByName("validate_only"), protoreflect.ValueOfBool(true))
	return []proto.Message{first, req}
}
