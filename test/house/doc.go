// Package house holds CONTRIBUTING's table of packages to the folders that there are.
package house
