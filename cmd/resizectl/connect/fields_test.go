package connect

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestFields(t *testing.T) {
	t.Run("have names for everything that users set", haveNamesForEverythingThatUsersSet)
	t.Run("appear in errors as flags and arguments", appearInErrorsAsFlagsAndArguments)
}

// own are the fields that the program sets, not its user, and samples, whose errors name lines of
// a file.
var own = map[string]bool{
	"page_size": true, "page_token": true, "resume_token": true, "request_id": true, "validate_only": true,
	"allow_missing": true, "allow_new_node_type": true, "allow_implausible": true, "include_nested": true, "restore": true, "samples": true,
	"expected_newest_change": true, "rule": true,
}

// paths returns the paths of all fields of a message that users set.
func paths(prefix string, of protoreflect.MessageDescriptor) (all []string) {
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		behavior, _ := proto.GetExtension(field.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
		if own[string(field.Name())] || slices.Contains(behavior, annotations.FieldBehavior_OUTPUT_ONLY) {
			continue
		}
		path := prefix + string(field.Name())
		if field.IsList() {
			path += "[1]"
		}
		all = append(all, path)
		if m := field.Message(); m != nil && strings.HasPrefix(string(m.FullName()), "workloadresizer.") {
			all = append(all, paths(path+".", m)...)
		}
	}
	return all
}

func haveNamesForEverythingThatUsersSet(t *testing.T) {
	seen := 0
	for _, file := range []protoreflect.FileDescriptor{
		workloadresizerv1.File_workloadresizer_v1_ratio_proto, workloadresizerv1.File_workloadresizer_v1_override_proto,
		workloadresizerv1.File_workloadresizer_v1_plan_proto, workloadresizerv1.File_workloadresizer_v1_resize_proto,
		workloadresizerv1.File_workloadresizer_v1_hold_proto,
	} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				for _, path := range paths("", methods.Get(j).Input()) {
					seen++
					if name := fieldName(path); name == path || strings.ContainsAny(name, "_.[") {
						t.Errorf("%s: %s is called %q", methods.Get(j).FullName(), path, name)
					}
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("saw only %d fields", seen)
	}
}

func appearInErrorsAsFlagsAndArguments(t *testing.T) {
	for _, tc := range []struct{ field, problem, want string }{
		{"node_types[0]", `"n5" has no ratio, but these have: n2d, n4; set one in what_if.ratios, or use a node type that ListRatios returns`, `--node-type "n5" has no ratio, but these have: n2d, n4; use one of these, or set its ratio with --what-if-ratio`},
		{"what_if.ratios[1].node_type", `"n4" is duplicated`, `--what-if-ratio "n4" is duplicated`},
		{"what_if.bounds.cpu", `is an empty range: min 4 is above max 1; set both, or "0" for no bound`, "the range from --what-if-min-cpu to --what-if-max-cpu is empty: 4 is above 1; set both, or 0 for no bound"},
		{"what_if.bounds.memory.min", `"-1" is negative`, `--what-if-min-memory "-1" is negative`},
		{"requests[0].override.node_type", `does not match regex pattern ^[A-Za-z0-9]([A-Za-z0-9_.@-]*[A-Za-z0-9])?$`, "the node type must consist of letters, digits and _ . @ -, and begin and end with a letter or digit"},
		{"requests[0].override.expire_time", "must be in the future; for no expiry, leave it unset and name it in update_mask", "the time in --for or --until must be in the future; --until never removes the end"},
		{"label_selector", `is not a label selector like "app=web"`, `--selector is not a label selector like "app=web"`},
		{"of_tomorrow", "must be set", "of_tomorrow must be set"},
	} {
		s, err := status.New(codes.InvalidArgument, tc.field+" "+tc.problem).WithDetails(
			&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: tc.field, Description: tc.problem}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := RefusedBecause(s.Err()); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
