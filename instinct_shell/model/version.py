"""The product's version: part of every profile digest and every record."""

VERSION = "0.1.0"
