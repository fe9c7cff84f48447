package servertest

import (
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// CheckError checks the code, the ErrorInfo and the message of an error.
func CheckError(t *testing.T, err error, code codes.Code, reason, message string) {
	t.Helper()
	s := status.Convert(err)
	info := infoOf(err)
	if s.Code() != code || info.GetReason() != reason || info.GetDomain() != "workload-resizer.io" || !strings.Contains(s.Message(), message) {
		t.Errorf("%s %q %v, want %s %q %s", s.Code(), s.Message(), info, code, message, reason)
	}
}

// ReasonOf returns the reason of an error, empty if it has none.
func ReasonOf(err error) string { return infoOf(err).GetReason() }

func infoOf(err error) *errdetails.ErrorInfo {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// FieldsOf returns the fields that an error names.
func FieldsOf(err error) []string {
	var fields []string
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	return fields
}
