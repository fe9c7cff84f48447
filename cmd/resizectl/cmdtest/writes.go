package cmdtest

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
)

// HiddenOfImpact is the warning about what the scripted server's impact leaves out.
const HiddenOfImpact = "warning: affected pods in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces\n"

// Mask names the fields to change.
func Mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// Tried returns a request as it is sent first, to validate only, and then for real.
func Tried(req proto.Message) []proto.Message {
	fields := req.ProtoReflect().Descriptor().Fields()
	req.ProtoReflect().Set(fields.ByName("author"), protoreflect.ValueOfString(connect.Author()))
	first := proto.Clone(req)
	first.ProtoReflect().Set(fields.ByName("validate_only"), protoreflect.ValueOfBool(true))
	return []proto.Message{first, req}
}
