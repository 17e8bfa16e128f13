/**
 * A plugin of typedoc: what a schema says of a field with `.describe(…)`, and a word of the vocabulary of itself, is the
 * documentation of what is inferred from it. Written once, in the schema, it stands in the tables, the JSON Schemas and the API.
 *
 * The state of a policy is its own: where the type of a definition names it, the API says `unknown`.
 */
import {
  Application,
  Comment,
  Converter,
  IntrinsicType,
  makeRecursiveVisitor,
  ReferenceType,
  ReflectionKind,
} from 'typedoc';
import ts from 'typescript';

/** Functions that define something with a name and a description, and which argument is the description. */
const definitions = { defineEvent: 1, defineDecision: 2 };

const isText = (node) => node !== undefined && ts.isStringLiteralLike(node);

/** The text of a string, also of one that is put together by `+`. */
function textOf(node) {
  if (isText(node)) return node.text;
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** The variable, the field or the import that a name stands for. */
function meaningOf(name, checker) {
  const found = ts.isShorthandPropertyAssignment(name.parent)
    ? checker.getShorthandAssignmentValueSymbol(name.parent)
    : checker.getSymbolAtLocation(name);
  const symbol = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  return symbol?.declarations?.[0];
}

/** What an expression says of itself: the last `.describe(…)`, also behind the name of a variable. */
function described(node, checker, depth = 0) {
  if (node === undefined || depth > 12) return undefined;
  const next = (one) => described(one, checker, depth + 1);
  if (ts.isCallExpression(node)) {
    const callee = node.expression;
    if (ts.isPropertyAccessExpression(callee)) {
      if (callee.name.text === 'describe' && node.arguments[0] !== undefined) return textOf(node.arguments[0]);
      return next(callee.expression);
    }
    const at = definitions[callee.getText()];
    return at === undefined || node.arguments[at] === undefined ? undefined : textOf(node.arguments[at]);
  }
  if (ts.isIdentifier(node)) {
    const meaning = meaningOf(node, checker);
    return meaning !== undefined && (ts.isVariableDeclaration(meaning) || ts.isPropertyAssignment(meaning))
      ? next(meaning.initializer)
      : undefined;
  }
  if (ts.isPropertyAccessExpression(node)) return next(node.name);
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return next(node.expression);
  return undefined;
}

function describeSymbol(symbol, checker) {
  for (const node of symbol?.declarations ?? []) {
    const text = ts.isShorthandPropertyAssignment(node)
      ? described(node.name, checker)
      : ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)
        ? described(node.initializer, checker)
        : undefined;
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Anonymous shapes are inferred from schemas: theirs is checked where the schemas are, by the laws and the tables. */
const isNamed = (reflection) => !reflection.getFullName().includes('__type');

/** Which type arguments of a definition are its state, and that as it is saved. */
const statesAt = new Map([
  ['PolicyDefinition', [2, 5]],
  ['PolicyDefinitionOf', [1, 2]],
]);

/** Leaves the states out of the definition of a policy. */
const withoutState = makeRecursiveVisitor({
  reference(type) {
    for (const at of statesAt.get(type.name) ?? []) {
      if (type.typeArguments?.[at] instanceof ReferenceType) type.typeArguments[at] = new IntrinsicType('unknown');
    }
  },
});

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const one of Object.values(project.reflections)) one.type?.visit(withoutState);
  });
  app.on(Application.EVENT_VALIDATE_PROJECT, (project) => {
    for (const one of project.getReflectionsByKind(ReflectionKind.Property)) {
      if (one.comment?.summary.length || !isNamed(one) || one.inheritedFrom !== undefined) continue;
      app.logger.warn(`${one.getFullName()} does not say what it is (a comment, or .describe of its schema)`);
    }
  });
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.comment !== undefined) return;
    if (!reflection.kindOf(ReflectionKind.Property | ReflectionKind.Variable)) return;
    const text = describeSymbol(context.getSymbolFromReflection(reflection), context.checker);
    if (text !== undefined) reflection.comment = new Comment([{ kind: 'text', text }]);
  });
}
