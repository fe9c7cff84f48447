package errors

import (
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// Violation is a problem with a field of a request.
type Violation struct{ Field, Problem string }

// MissingField returns the error for a request that lacks a required field.
func MissingField(field, what string) error { return BadField(field, "must be set: "+what) }

// BadField returns the error for a request with an invalid field.
func BadField(field, problem string) error { return BadFields([]Violation{{field, problem}}) }

// BadFields is BadField for one or more fields.
func BadFields(violations []Violation) error {
	request := &errdetails.BadRequest{}
	messages := make([]string, len(violations))
	for i, v := range violations {
		messages[i] = v.Field + " " + v.Problem
		request.FieldViolations = append(request.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: valid(v.Field), Description: valid(v.Problem)})
	}
	return New(InvalidArgument, strings.Join(messages, "; "), request)
}
